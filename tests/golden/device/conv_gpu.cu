
extern "C" __global__ void __launch_bounds__(256)
k0_conv_relu( float* __restrict__ stria_base_R, const stria_u64 stria_at_R,  const float* __restrict__ stria_base_D, const stria_u64 stria_at_D,  const float* __restrict__ stria_base_K, const stria_u64 stria_at_K)
{
   float* __restrict__ v_R = stria_base_R + stria_at_R;
   const float* __restrict__ v_D = stria_base_D + stria_at_D;
   const float* __restrict__ v_K = stria_base_K + stria_at_K;
  __shared__ float v_Ds[1570];
  __shared__ float v_Ks[1588];
  float v_acc[8];
  const int v_co = (int)blockIdx.x;
  const int v_y = (int)blockIdx.y;
  const int v_group = (int)blockIdx.z;
  const int v_lane = (int)threadIdx.x;
  const int v_x = v_group % 112;
  const int v_n = v_group / 112;
  const int v_c = v_lane % 8;
  const int v_y_1 = (v_lane / 8) % 2;
  const int v_x_1 = (v_lane / 16) % 2;
  const int v_n_1 = v_lane / 32;
  const int v_n_2 = (v_lane / 8) % 16;
  const int v_yl = v_lane / 128;
  const int v_o = ((((v_c + (v_n * 51380224)) + (v_n_2 * 3211264)) + (v_x * 28672)) + (v_y * 128)) + (v_yl * 64);
  const int v_o_5 = ((v_c * 49) + (v_n_2 * 3)) + (v_yl * 393);
  const int v_co_1 = v_lane / 8;
  const int v_o_8 = (v_c + (v_co * 2048)) + (v_co_1 * 64);
  const int v_o_13 = (v_c * 33) + v_co_1;
  const int v_o_16 = ((v_n_1 * 3) + v_x_1) + (v_y_1 * 393);
  const int v_o_48 = ((((((v_c + (v_co * 32)) + (v_n * 51380224)) + (v_n_1 * 3211264)) + (v_x * 28672)) + (v_x_1 * 14336)) + (v_y * 128)) + (v_y_1 * 64);
  v_acc[0] = 0.0f;
  v_acc[4] = 0.0f;
  v_acc[1] = 0.0f;
  v_acc[5] = 0.0f;
  v_acc[2] = 0.0f;
  v_acc[6] = 0.0f;
  v_acc[3] = 0.0f;
  v_acc[7] = 0.0f;
  for (int v_ci = 0; v_ci < 8; ++v_ci) {
    const int v_o_1 = v_o + (v_ci * 8);
    const int v_o_9 = v_o_8 + (v_ci * 8);
    for (int v_i = 0; v_i < 2; ++v_i) {
      const int v_o_2 = v_o_1 + (v_i * 28672);
      const int v_o_10 = v_o_9 + (v_i * 24576);
      for (int v_yh = 0; v_yh < 2; ++v_yh) {
        const int v_o_3 = v_o_2 + (v_yh * 128);
        const int v_o_6 = v_o_5 + (v_yh * 786);
        for (int v_x_2 = 0; v_x_2 < 3; ++v_x_2) {
          const int v_o_4 = v_o_3 + (v_x_2 * 14336);
          const int v_o_7 = v_o_6 + v_x_2;
          const int v_clamped = stria_lesser(stria_greater((v_o_4 + (-14400)), 0), 102760447);
          const float v_d = v_D[v_clamped];
          v_Ds[v_o_7] = v_d;
        }
      }
      for (int v_il = 0; v_il < 2; ++v_il) {
        const int v_o_11 = v_o_10 + (v_il * 12288);
        const int v_o_14 = v_o_13 + (v_il * 795);
        for (int v_j = 0; v_j < 3; ++v_j) {
          const int v_o_12 = v_o_11 + (v_j * 4096);
          const int v_o_15 = v_o_14 + (v_j * 265);
          const int v_clamped_1 = stria_lesser(stria_greater(v_o_12, 0), 36863);
          const float v_k = v_K[v_clamped_1];
          v_Ks[v_o_15] = v_k;
        }
      }
      __syncthreads();
      if ((((1 <= ((v_i * 2) + (v_x * 2))) && (((v_i * 2) + (v_x * 2)) <= 222)) && (1 <= (v_y * 2))) && ((v_y * 2) <= 221)) {
        for (int v_il_1 = 0; v_il_1 < stria_lesser(2, (3 - (v_i * 2))); ++v_il_1) {
          const int v_o_17 = v_o_16 + v_il_1;
          const int v_o_20 = v_c + (v_il_1 * 795);
          for (int v_ci_1 = 0; v_ci_1 < 8; ++v_ci_1) {
            const int v_o_18 = v_o_17 + (v_ci_1 * 49);
            const int v_o_21 = v_o_20 + (v_ci_1 * 33);
            for (int v_j_1 = 0; v_j_1 < 3; ++v_j_1) {
              const int v_o_19 = v_o_18 + (v_j_1 * 393);
              const int v_o_22 = v_o_21 + (v_j_1 * 265);
              const float v_d_1 = v_Ds[v_o_19];
              const float v_k_1 = v_Ks[v_o_22];
              const float v_sum = v_acc[0];
              const float v_sum_1 = fma(v_d_1, v_k_1, v_sum);
              v_acc[0] = v_sum_1;
              const float v_d_2 = v_Ds[v_o_19 + 24];
              const float v_sum_2 = v_acc[4];
              const float v_sum_3 = fma(v_d_2, v_k_1, v_sum_2);
              v_acc[4] = v_sum_3;
              const float v_k_3 = v_Ks[v_o_22 + 8];
              const float v_sum_4 = v_acc[1];
              const float v_sum_5 = fma(v_d_1, v_k_3, v_sum_4);
              v_acc[1] = v_sum_5;
              const float v_sum_6 = v_acc[5];
              const float v_sum_7 = fma(v_d_2, v_k_3, v_sum_6);
              v_acc[5] = v_sum_7;
              const float v_k_5 = v_Ks[v_o_22 + 16];
              const float v_sum_8 = v_acc[2];
              const float v_sum_9 = fma(v_d_1, v_k_5, v_sum_8);
              v_acc[2] = v_sum_9;
              const float v_sum_10 = v_acc[6];
              const float v_sum_11 = fma(v_d_2, v_k_5, v_sum_10);
              v_acc[6] = v_sum_11;
              const float v_k_7 = v_Ks[v_o_22 + 24];
              const float v_sum_12 = v_acc[3];
              const float v_sum_13 = fma(v_d_1, v_k_7, v_sum_12);
              v_acc[3] = v_sum_13;
              const float v_sum_14 = v_acc[7];
              const float v_sum_15 = fma(v_d_2, v_k_7, v_sum_14);
              v_acc[7] = v_sum_15;
            }
          }
        }
      }
      if (((v_i * 2) + (v_x * 2)) <= 0) {
        for (int v_il_2 = stria_greater(0, (((1 - (v_i * 2)) - (v_x * 2)) - v_x_1)); v_il_2 < stria_lesser(stria_lesser(2, (3 - (v_i * 2))), (((225 - (v_i * 2)) - (v_x * 2)) - v_x_1)); ++v_il_2) {
          const int v_o_23 = v_o_16 + v_il_2;
          const int v_o_26 = v_c + (v_il_2 * 795);
          for (int v_ci_2 = 0; v_ci_2 < 8; ++v_ci_2) {
            const int v_o_24 = v_o_23 + (v_ci_2 * 49);
            const int v_o_27 = v_o_26 + (v_ci_2 * 33);
            for (int v_j_2 = stria_greater(0, ((1 - (v_y * 2)) - v_y_1)); v_j_2 < stria_lesser(3, ((225 - (v_y * 2)) - v_y_1)); ++v_j_2) {
              const int v_o_25 = v_o_24 + (v_j_2 * 393);
              const int v_o_28 = v_o_27 + (v_j_2 * 265);
              const float v_d_9 = v_Ds[v_o_25];
              const float v_k_9 = v_Ks[v_o_28];
              const float v_sum_16 = v_acc[0];
              const float v_sum_17 = fma(v_d_9, v_k_9, v_sum_16);
              v_acc[0] = v_sum_17;
              const float v_d_10 = v_Ds[v_o_25 + 24];
              const float v_sum_18 = v_acc[4];
              const float v_sum_19 = fma(v_d_10, v_k_9, v_sum_18);
              v_acc[4] = v_sum_19;
              const float v_k_11 = v_Ks[v_o_28 + 8];
              const float v_sum_20 = v_acc[1];
              const float v_sum_21 = fma(v_d_9, v_k_11, v_sum_20);
              v_acc[1] = v_sum_21;
              const float v_sum_22 = v_acc[5];
              const float v_sum_23 = fma(v_d_10, v_k_11, v_sum_22);
              v_acc[5] = v_sum_23;
              const float v_k_13 = v_Ks[v_o_28 + 16];
              const float v_sum_24 = v_acc[2];
              const float v_sum_25 = fma(v_d_9, v_k_13, v_sum_24);
              v_acc[2] = v_sum_25;
              const float v_sum_26 = v_acc[6];
              const float v_sum_27 = fma(v_d_10, v_k_13, v_sum_26);
              v_acc[6] = v_sum_27;
              const float v_k_15 = v_Ks[v_o_28 + 24];
              const float v_sum_28 = v_acc[3];
              const float v_sum_29 = fma(v_d_9, v_k_15, v_sum_28);
              v_acc[3] = v_sum_29;
              const float v_sum_30 = v_acc[7];
              const float v_sum_31 = fma(v_d_10, v_k_15, v_sum_30);
              v_acc[7] = v_sum_31;
            }
          }
        }
      }
      if (223 <= ((v_i * 2) + (v_x * 2))) {
        for (int v_il_3 = stria_greater(0, (((1 - (v_i * 2)) - (v_x * 2)) - v_x_1)); v_il_3 < stria_lesser(stria_lesser(2, (3 - (v_i * 2))), (((225 - (v_i * 2)) - (v_x * 2)) - v_x_1)); ++v_il_3) {
          const int v_o_29 = v_o_16 + v_il_3;
          const int v_o_32 = v_c + (v_il_3 * 795);
          for (int v_ci_3 = 0; v_ci_3 < 8; ++v_ci_3) {
            const int v_o_30 = v_o_29 + (v_ci_3 * 49);
            const int v_o_33 = v_o_32 + (v_ci_3 * 33);
            for (int v_j_3 = stria_greater(0, ((1 - (v_y * 2)) - v_y_1)); v_j_3 < stria_lesser(3, ((225 - (v_y * 2)) - v_y_1)); ++v_j_3) {
              const int v_o_31 = v_o_30 + (v_j_3 * 393);
              const int v_o_34 = v_o_33 + (v_j_3 * 265);
              const float v_d_17 = v_Ds[v_o_31];
              const float v_k_17 = v_Ks[v_o_34];
              const float v_sum_32 = v_acc[0];
              const float v_sum_33 = fma(v_d_17, v_k_17, v_sum_32);
              v_acc[0] = v_sum_33;
              const float v_d_18 = v_Ds[v_o_31 + 24];
              const float v_sum_34 = v_acc[4];
              const float v_sum_35 = fma(v_d_18, v_k_17, v_sum_34);
              v_acc[4] = v_sum_35;
              const float v_k_19 = v_Ks[v_o_34 + 8];
              const float v_sum_36 = v_acc[1];
              const float v_sum_37 = fma(v_d_17, v_k_19, v_sum_36);
              v_acc[1] = v_sum_37;
              const float v_sum_38 = v_acc[5];
              const float v_sum_39 = fma(v_d_18, v_k_19, v_sum_38);
              v_acc[5] = v_sum_39;
              const float v_k_21 = v_Ks[v_o_34 + 16];
              const float v_sum_40 = v_acc[2];
              const float v_sum_41 = fma(v_d_17, v_k_21, v_sum_40);
              v_acc[2] = v_sum_41;
              const float v_sum_42 = v_acc[6];
              const float v_sum_43 = fma(v_d_18, v_k_21, v_sum_42);
              v_acc[6] = v_sum_43;
              const float v_k_23 = v_Ks[v_o_34 + 24];
              const float v_sum_44 = v_acc[3];
              const float v_sum_45 = fma(v_d_17, v_k_23, v_sum_44);
              v_acc[3] = v_sum_45;
              const float v_sum_46 = v_acc[7];
              const float v_sum_47 = fma(v_d_18, v_k_23, v_sum_46);
              v_acc[7] = v_sum_47;
            }
          }
        }
      }
      if (((1 <= ((v_i * 2) + (v_x * 2))) && (((v_i * 2) + (v_x * 2)) <= 222)) && ((v_y * 2) <= 0)) {
        for (int v_il_4 = stria_greater(0, (((1 - (v_i * 2)) - (v_x * 2)) - v_x_1)); v_il_4 < stria_lesser(stria_lesser(2, (3 - (v_i * 2))), (((225 - (v_i * 2)) - (v_x * 2)) - v_x_1)); ++v_il_4) {
          const int v_o_35 = v_o_16 + v_il_4;
          const int v_o_38 = v_c + (v_il_4 * 795);
          for (int v_ci_4 = 0; v_ci_4 < 8; ++v_ci_4) {
            const int v_o_36 = v_o_35 + (v_ci_4 * 49);
            const int v_o_39 = v_o_38 + (v_ci_4 * 33);
            for (int v_j_4 = stria_greater(0, ((1 - (v_y * 2)) - v_y_1)); v_j_4 < stria_lesser(3, ((225 - (v_y * 2)) - v_y_1)); ++v_j_4) {
              const int v_o_37 = v_o_36 + (v_j_4 * 393);
              const int v_o_40 = v_o_39 + (v_j_4 * 265);
              const float v_d_25 = v_Ds[v_o_37];
              const float v_k_25 = v_Ks[v_o_40];
              const float v_sum_48 = v_acc[0];
              const float v_sum_49 = fma(v_d_25, v_k_25, v_sum_48);
              v_acc[0] = v_sum_49;
              const float v_d_26 = v_Ds[v_o_37 + 24];
              const float v_sum_50 = v_acc[4];
              const float v_sum_51 = fma(v_d_26, v_k_25, v_sum_50);
              v_acc[4] = v_sum_51;
              const float v_k_27 = v_Ks[v_o_40 + 8];
              const float v_sum_52 = v_acc[1];
              const float v_sum_53 = fma(v_d_25, v_k_27, v_sum_52);
              v_acc[1] = v_sum_53;
              const float v_sum_54 = v_acc[5];
              const float v_sum_55 = fma(v_d_26, v_k_27, v_sum_54);
              v_acc[5] = v_sum_55;
              const float v_k_29 = v_Ks[v_o_40 + 16];
              const float v_sum_56 = v_acc[2];
              const float v_sum_57 = fma(v_d_25, v_k_29, v_sum_56);
              v_acc[2] = v_sum_57;
              const float v_sum_58 = v_acc[6];
              const float v_sum_59 = fma(v_d_26, v_k_29, v_sum_58);
              v_acc[6] = v_sum_59;
              const float v_k_31 = v_Ks[v_o_40 + 24];
              const float v_sum_60 = v_acc[3];
              const float v_sum_61 = fma(v_d_25, v_k_31, v_sum_60);
              v_acc[3] = v_sum_61;
              const float v_sum_62 = v_acc[7];
              const float v_sum_63 = fma(v_d_26, v_k_31, v_sum_62);
              v_acc[7] = v_sum_63;
            }
          }
        }
      }
      if (((1 <= ((v_i * 2) + (v_x * 2))) && (((v_i * 2) + (v_x * 2)) <= 222)) && (222 <= (v_y * 2))) {
        for (int v_il_5 = stria_greater(0, (((1 - (v_i * 2)) - (v_x * 2)) - v_x_1)); v_il_5 < stria_lesser(stria_lesser(2, (3 - (v_i * 2))), (((225 - (v_i * 2)) - (v_x * 2)) - v_x_1)); ++v_il_5) {
          const int v_o_41 = v_o_16 + v_il_5;
          const int v_o_44 = v_c + (v_il_5 * 795);
          for (int v_ci_5 = 0; v_ci_5 < 8; ++v_ci_5) {
            const int v_o_42 = v_o_41 + (v_ci_5 * 49);
            const int v_o_45 = v_o_44 + (v_ci_5 * 33);
            for (int v_j_5 = stria_greater(0, ((1 - (v_y * 2)) - v_y_1)); v_j_5 < stria_lesser(3, ((225 - (v_y * 2)) - v_y_1)); ++v_j_5) {
              const int v_o_43 = v_o_42 + (v_j_5 * 393);
              const int v_o_46 = v_o_45 + (v_j_5 * 265);
              const float v_d_33 = v_Ds[v_o_43];
              const float v_k_33 = v_Ks[v_o_46];
              const float v_sum_64 = v_acc[0];
              const float v_sum_65 = fma(v_d_33, v_k_33, v_sum_64);
              v_acc[0] = v_sum_65;
              const float v_d_34 = v_Ds[v_o_43 + 24];
              const float v_sum_66 = v_acc[4];
              const float v_sum_67 = fma(v_d_34, v_k_33, v_sum_66);
              v_acc[4] = v_sum_67;
              const float v_k_35 = v_Ks[v_o_46 + 8];
              const float v_sum_68 = v_acc[1];
              const float v_sum_69 = fma(v_d_33, v_k_35, v_sum_68);
              v_acc[1] = v_sum_69;
              const float v_sum_70 = v_acc[5];
              const float v_sum_71 = fma(v_d_34, v_k_35, v_sum_70);
              v_acc[5] = v_sum_71;
              const float v_k_37 = v_Ks[v_o_46 + 16];
              const float v_sum_72 = v_acc[2];
              const float v_sum_73 = fma(v_d_33, v_k_37, v_sum_72);
              v_acc[2] = v_sum_73;
              const float v_sum_74 = v_acc[6];
              const float v_sum_75 = fma(v_d_34, v_k_37, v_sum_74);
              v_acc[6] = v_sum_75;
              const float v_k_39 = v_Ks[v_o_46 + 24];
              const float v_sum_76 = v_acc[3];
              const float v_sum_77 = fma(v_d_33, v_k_39, v_sum_76);
              v_acc[3] = v_sum_77;
              const float v_sum_78 = v_acc[7];
              const float v_sum_79 = fma(v_d_34, v_k_39, v_sum_78);
              v_acc[7] = v_sum_79;
            }
          }
        }
      }
      __syncthreads();
    }
  }
  const float v_o_47 = v_acc[0];
  const bool v_p = 0.0f < v_o_47;
  const float v_r = v_p ? v_o_47 : 0.0f;
  v_R[v_o_48] = v_r;
  const float v_o_49 = v_acc[4];
  const bool v_p_1 = 0.0f < v_o_49;
  const float v_r_1 = v_p_1 ? v_o_49 : 0.0f;
  v_R[v_o_48 + 25690112] = v_r_1;
  const float v_o_50 = v_acc[1];
  const bool v_p_2 = 0.0f < v_o_50;
  const float v_r_2 = v_p_2 ? v_o_50 : 0.0f;
  v_R[v_o_48 + 8] = v_r_2;
  const float v_o_51 = v_acc[5];
  const bool v_p_3 = 0.0f < v_o_51;
  const float v_r_3 = v_p_3 ? v_o_51 : 0.0f;
  v_R[v_o_48 + 25690120] = v_r_3;
  const float v_o_52 = v_acc[2];
  const bool v_p_4 = 0.0f < v_o_52;
  const float v_r_4 = v_p_4 ? v_o_52 : 0.0f;
  v_R[v_o_48 + 16] = v_r_4;
  const float v_o_53 = v_acc[6];
  const bool v_p_5 = 0.0f < v_o_53;
  const float v_r_5 = v_p_5 ? v_o_53 : 0.0f;
  v_R[v_o_48 + 25690128] = v_r_5;
  const float v_o_54 = v_acc[3];
  const bool v_p_6 = 0.0f < v_o_54;
  const float v_r_6 = v_p_6 ? v_o_54 : 0.0f;
  v_R[v_o_48 + 24] = v_r_6;
  const float v_o_55 = v_acc[7];
  const bool v_p_7 = 0.0f < v_o_55;
  const float v_r_7 = v_p_7 ? v_o_55 : 0.0f;
  v_R[v_o_48 + 25690136] = v_r_7;
}
